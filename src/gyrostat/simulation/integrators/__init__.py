"""The methods, each with its own trial step, memory and dense output."""
