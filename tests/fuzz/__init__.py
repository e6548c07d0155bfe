"""Every tool with arguments by chance, over the real protocol: whatever is sent is answered, and nothing leaks."""
