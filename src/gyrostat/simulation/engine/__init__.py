"""The compiled time loop: from equations to machine code, blocks of lanes, events."""
