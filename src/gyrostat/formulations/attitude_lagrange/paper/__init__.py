"""Forbes's own coordinates, several bodies and drift: what the paper's experiments and the tests use."""
