"""Reads a page, and checks that every element is closed where it was opened."""

from html.parser import HTMLParser


class Nesting(HTMLParser):
    """Elements that are open; text by the element that it is in."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], {}

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)
