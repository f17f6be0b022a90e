public import DBusTypes
public import FocusContract

/// The objects that show bindings.
public enum Place: Hashable, Sendable {
  /// The mirror of what has focus.
  case focused
  /// One field.
  case field(FieldID)
}

/// A property of a field that changes, but for those of its bindings.
public enum FieldProperty: String, Hashable, Sendable {
  /// It outlived its owner.
  case owner = "Owner"
  /// It belongs to another process, as far as is known.
  case process = "Process"
  /// It moved.
  case parent = "Parent"
  /// A window has other connections' scenes than before.
  case adopted = "Adopted"
  /// It gained or lost focus.
  case focused = "Focused"
  /// A session-scoped field became active, or stopped being so.
  case active = "Active"
}

/// What everyone must be told; values of sensitive fields are never among it.
public enum Change: Hashable, Sendable {
  /// A field was registered.
  case fieldAdded(FieldID)
  /// A field is gone, with the interfaces of its keys.
  case fieldRemoved(FieldID, interfaces: [InterfaceName])
  /// A property of a field has another value.
  case fieldChanged(FieldID, FieldProperty)
  /// The session-scoped fields have another order.
  case sessionFieldsChanged
  /// The focused field, the focus path or the history changed.
  case focusChanged(focusedField: Bool, focusPath: Bool, history: Bool)
  /// An object has keys of these interfaces and had none before.
  case interfacesAdded(Place, [InterfaceName])
  /// An object has no keys of these interfaces any more.
  case interfacesRemoved(Place, [InterfaceName])
  /// Keys of one interface have new values, or none any more.
  case valuesChanged(Place, InterfaceName, changed: [NamedValue], invalidated: [MemberName])
  /// An object has other keys than before; or other commands, or other ones are enabled.
  case membersChanged(Place, keys: Bool, commands: Bool)
}

/// A member and its value.
public struct NamedValue: Hashable, Sendable {
  /// The member's name.
  public var name: MemberName
  /// The value.
  public var value: MarshalledValue
}
