; Modules, classes and methods.
(module) @definition
(class) @definition
(singleton_class) @definition
(method) @definition
(singleton_method) @definition
