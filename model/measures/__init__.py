"""What is measured on a finished trace: weights in, matrices out. No figure and no sentence lives here."""
