"""The model on this machine: tokenizer, weights and arithmetic in NumPy. Nothing leaves the machine."""
