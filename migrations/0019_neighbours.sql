-- A place in the numbers, taken by another branch.
SELECT;
