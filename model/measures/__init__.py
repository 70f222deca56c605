"""What is measured on a finished trace: weights in, matrices out."""
