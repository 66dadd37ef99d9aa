; The elements that divide a page, and any element with an id.
(element
  (start_tag (tag_name) @tag)
  (#any-of? @tag "html" "head" "body" "header" "footer" "main" "nav" "section" "article" "aside" "form" "table"
    "dialog" "template" "svg")) @definition
(element (start_tag (attribute (attribute_name) @attribute) (#eq? @attribute "id"))) @definition
(script_element) @definition
(style_element) @definition
