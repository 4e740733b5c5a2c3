"""Fixed-step runs whose gradients come by one sweep backward."""
