"""What was asked for: read, checked, and written as equations of one vector."""
