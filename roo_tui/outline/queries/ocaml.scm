; Modules, signatures, types, classes and values.
(module_definition) @definition
(module_type_definition) @definition
(type_definition) @definition
(class_definition) @definition
(external) @definition
(value_definition) @definition
(value_specification) @definition
