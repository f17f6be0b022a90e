/// The keys of the focused element, all for others to read: ``FocusedValues/element``.
public struct ElementKeys: Sendable {
  /// What the element is, such as a text box: `org.focusd.Element.Role`, type `s`.
  public let role = SharedKey<ElementRole>("org.focusd.Element.Role")
  /// The element's accessible name: `org.focusd.Element.Name`, type `s`.
  public let name = SharedKey<String>("org.focusd.Element.Name")
  /// The element's accessible description: `org.focusd.Element.Description`, type `s`.
  public let description = SharedKey<String>("org.focusd.Element.Description")
}

/// What an element is, in ARIA's words if ARIA has one.
public struct ElementRole: RawRepresentable, Hashable, Sendable, DBusRepresentable {
  /// The role's word on the bus.
  public let rawValue: String

  /// Creates a role, which may be one that is not listed here.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A button.
  public static let button = ElementRole(rawValue: "button")
  /// A check box.
  public static let checkbox = ElementRole(rawValue: "checkbox")
  /// A document.
  public static let document = ElementRole(rawValue: "document")
  /// A link.
  public static let link = ElementRole(rawValue: "link")
  /// An item of a list.
  public static let listItem = ElementRole(rawValue: "listitem")
  /// An item of a menu.
  public static let menuItem = ElementRole(rawValue: "menuitem")
  /// An entry of a password.
  public static let password = ElementRole(rawValue: "password")
  /// An entry of a search.
  public static let searchBox = ElementRole(rawValue: "searchbox")
  /// A slider.
  public static let slider = ElementRole(rawValue: "slider")
  /// An entry of a number, with steps.
  public static let spinButton = ElementRole(rawValue: "spinbutton")
  /// A switch.
  public static let toggleSwitch = ElementRole(rawValue: "switch")
  /// A tab.
  public static let tab = ElementRole(rawValue: "tab")
  /// A terminal.
  public static let terminal = ElementRole(rawValue: "terminal")
  /// An entry of text, of one line or many.
  public static let textBox = ElementRole(rawValue: "textbox")
  /// A window.
  public static let window = ElementRole(rawValue: "window")
}

/// The keys of a slider, spin button or dial: ``FocusedValues/range``.
public struct RangeKeys: Sendable {
  /// What it is at, from ``minimum`` to ``maximum``: `org.focusd.Range.Value`, type `d`.
  public let value = SharedKey<Binding<Double>>("org.focusd.Range.Value")
  /// The least value, in the unit of ``value``: `org.focusd.Range.Minimum`, type `d`.
  public let minimum = SharedKey<Double>("org.focusd.Range.Minimum")
  /// The greatest value, in the unit of ``value``: `org.focusd.Range.Maximum`, type `d`.
  public let maximum = SharedKey<Double>("org.focusd.Range.Maximum")
  /// The distance of two values, 0 for a continuous range: `org.focusd.Range.Step`, type `d`.
  public let step = SharedKey<Double>("org.focusd.Range.Step")
  /// One step up, or a hundredth of a continuous range: the command `org.focusd.Range.Increment`.
  public let increment = SharedKey<FocusedCommand>("org.focusd.Range.Increment")
  /// One step down, or a hundredth of a continuous range: the command `org.focusd.Range.Decrement`.
  public let decrement = SharedKey<FocusedCommand>("org.focusd.Range.Decrement")
}

/// The keys of a check box, switch or toggle button: ``FocusedValues/toggle``.
public struct ToggleKeys: Sendable {
  /// Whether it is on: `org.focusd.Toggle.Checked`, type `b`.
  public let checked = SharedKey<Binding<Bool>>("org.focusd.Toggle.Checked")
}

/// The actions of the focused element, whatever they are called: ``FocusedValues/action``.
public struct ActionKeys {
  var values: FocusedValues

  /// The action `name`, a D-Bus member name such as `Click`, `Press` or `Activate`: the command `org.focusd.Action.NAME`.
  public subscript(name: String) -> FocusedCommand? {
    get { values["org.focusd.Action.\(name)"] }
    set { values["org.focusd.Action.\(name)"] = newValue }
  }
}
