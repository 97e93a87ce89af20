"""The main job: run the quantized ops on real data and show how far they are from float."""
