internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The objects that the daemon shows, by their paths.
enum Target: Hashable {
  /// `/org/focusd/Focus1`
  case manager
  /// `/org/focusd/Focus1/focused`, or `/org/focusd/Focus1/field/ID`; the field may not be there.
  case place(Place)
  /// A path above the others that has nothing but children.
  case node(children: [String])
  /// `/org/focusd/Focus1/field`, whose children are the fields.
  case fields

  /// The object at `path`, or nil if there cannot be one.
  init?(_ path: ObjectPath) {
    switch path.text {
    case Focus1.focused.text: self = .place(.focused)
    case Focus1.root.text: self = .manager
    case Focus1.fields.text: self = .fields
    case "/": self = .node(children: ["org"])
    case "/org": self = .node(children: ["focusd"])
    case "/org/focusd": self = .node(children: ["Focus1"])
    default:
      guard let id = FieldID(path) else { return nil }
      self = .place(.field(id))
    }
  }

  /// The path of the field `id`, or `/` for nil.
  static func path(of id: FieldID?) -> ObjectPath { id?.path ?? .root }

  static func path(of place: Place) -> ObjectPath {
    switch place {
    case .focused: Focus1.focused
    case .field(let id): path(of: id)
    }
  }

  /// The bindings that the object shows, or nil if it shows none.
  var place: Place? {
    if case .place(let place) = self { place } else { nil }
  }
}
