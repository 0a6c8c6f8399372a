"""What `lehner agreement` prints and draws."""
