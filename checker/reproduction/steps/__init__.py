"""Plans of the model's actions: a function for each action brings the action about, and waits for what shows it."""
