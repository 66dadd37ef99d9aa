; Classes, objects, traits, enumerations and functions.
(class_definition) @definition
(object_definition) @definition
(trait_definition) @definition
(enum_definition) @definition
(given_definition) @definition
(extension_definition) @definition
(function_definition) @definition
