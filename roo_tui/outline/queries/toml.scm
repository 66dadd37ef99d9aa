; Tables, and values over several lines.
(table) @definition
(table_array_element) @definition
(pair (array)) @definition
