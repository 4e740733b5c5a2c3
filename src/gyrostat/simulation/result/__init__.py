"""What a run leaves: the trajectory, its data, its audits."""
