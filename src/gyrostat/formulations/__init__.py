"""One module per way of writing the equations of motion; all with the same signatures."""
