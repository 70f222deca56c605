"""Small trainings that can be watched: tasks of which it is known what heads must learn for them, and their history."""
