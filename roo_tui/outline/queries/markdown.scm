; Headings of both kinds; each reaches to the next one.
(atx_heading) @heading
(setext_heading) @heading
