"""Reads, writes and cuts .tflite files, and makes a prepared op of each of their operators."""
