"""Reads, fuses and cuts .onnx files, and makes a prepared op of each of their nodes."""
