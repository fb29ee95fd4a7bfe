"""What follows from the values of a deployment: whether some event is possible, or can have an effect."""
