; Contracts, interfaces and libraries with what they hold.
(contract_declaration) @definition
(interface_declaration) @definition
(library_declaration) @definition
(struct_declaration) @definition
(enum_declaration) @definition
(event_definition) @definition
(modifier_definition) @definition
(constructor_definition) @definition
(function_definition) @definition
(fallback_receive_definition) @definition
