; Types and their methods.
(class_declaration) @definition
(interface_declaration) @definition
(enum_declaration) @definition
(record_declaration) @definition
(annotation_type_declaration) @definition
(constructor_declaration) @definition
(compact_constructor_declaration) @definition
(method_declaration) @definition
