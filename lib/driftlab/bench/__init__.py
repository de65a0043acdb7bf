"""How fast the replicated trainer is, beside a plain PyTorch Geometric loop that computes the same."""
