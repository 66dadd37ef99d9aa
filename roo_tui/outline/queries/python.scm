; Classes, functions and methods.
(class_definition) @definition
(function_definition) @definition
