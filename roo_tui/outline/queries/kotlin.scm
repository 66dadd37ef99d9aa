; Classes, interfaces and objects, functions, constructors, and properties with accessors.
(class_declaration) @definition
(object_declaration) @definition
(companion_object) @definition
(function_declaration) @definition
(secondary_constructor) @definition
(property_declaration [(getter) (setter)]) @definition
