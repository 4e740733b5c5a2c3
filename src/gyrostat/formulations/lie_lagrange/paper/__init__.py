"""From's further reductions, the virtual manipulator and the ground test bed."""
