import MenuBridge
import Testing

@Suite struct AcceleratorTests {
  @Test(arguments: [
    ("<Primary>z", "Ctrl+Z"), ("<Primary><Shift>z", "Ctrl+Shift+Z"), ("<Shift><Control>Page_Up", "Ctrl+Shift+PgUp"),
    ("<Primary>plus", "Ctrl++"), ("<Alt>Left", "Alt+Left"), ("F11", "F11"), ("<Super>KP_Enter", "Super+KP Enter"),
    ("", ""),
    ("<Primary>", ""), ("<", "<"), ("<Primary", "<Primary"), ("<Hyper>x", "Hyper+X"),
  ])
  func formOfGTK(text: String, shown: String) {
    #expect(Accelerator.shown(gtk: text) == shown)
  }

  @Test(arguments: [
    ("u;<Alt>e:u;<Primary>z", "Ctrl+Z"), ("u;<Alt>e:u;", ""), ("Ctrl+Z", "Ctrl+Z"), ("Alt+U", ""), ("U", ""),
    ("Alt+Left", "Alt+Left"), ("", ""), (";;", ""), ("<Primary>q", "Ctrl+Q"), ("F1", "F1"),
  ])
  func formOfTheAccessibilityBus(text: String, shown: String) {
    #expect(Accelerator.shown(atspi: text) == shown)
  }

  @Test(arguments: [
    ("Ctrl+Shift+Z", "Ctrl+Shift+Z"), ("Shift+Ctrl+Z", "Ctrl+Shift+Z"), ("Ctrl++", "Ctrl++"), ("Ctrl+,", "Ctrl+,"),
    ("Ctrl+C, Ctrl+Ins", "Ctrl+C"), ("Meta+Tab", "Super+Tab"), ("+", "+"), ("Strg+Z", "Strg+Z"), ("", ""),
  ])
  func formOfQt(text: String, shown: String) {
    #expect(Accelerator.shown(qt: text) == shown)
  }
}
