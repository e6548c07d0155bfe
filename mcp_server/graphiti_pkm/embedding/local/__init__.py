"""The local model: tokenizer, weights and arithmetic in NumPy. Texts do not leave the machine."""
