/// What an interface consists of, as introspection shows it.
///
/// The D-Bus specification, section "Introspection Data Format".
public struct InterfaceDescription: Sendable {
  /// One argument of a method or signal.
  public struct Argument: Hashable, Sendable {
    /// The argument's name, for people.
    public var name: String
    /// The argument's type.
    public var type: DBusType

    /// Creates an argument.
    public init(_ name: String, _ type: DBusType) {
      self.name = name
      self.type = type
    }
  }

  /// A method.
  public struct Method: Hashable, Sendable {
    /// The method's name.
    public var name: MemberName
    /// What it takes.
    public var input: [Argument]
    /// What it replies.
    public var output: [Argument]

    /// Creates a method.
    public init(_ name: MemberName, in input: [Argument] = [], out output: [Argument] = []) {
      self.name = name
      self.input = input
      self.output = output
    }
  }

  /// A signal.
  public struct Signal: Hashable, Sendable {
    /// The signal's name.
    public var name: MemberName
    /// What it carries.
    public var arguments: [Argument]

    /// Creates a signal.
    public init(_ name: MemberName, _ arguments: [Argument] = []) {
      self.name = name
      self.arguments = arguments
    }
  }

  /// A property.
  public struct Property: Hashable, Sendable {
    /// What may be done with a property.
    public enum Access: String, Sendable {
      /// It can be read.
      case read
      /// It can be written.
      case write
      /// It can be read and written.
      case readWrite = "readwrite"
    }

    /// The property's name.
    public var name: MemberName
    /// The property's type.
    public var type: DBusType
    /// What may be done with it.
    public var access: Access
    /// How changes of the value are signalled.
    public var emits: Emits

    /// How changes of a property are signalled: the annotation `org.freedesktop.DBus.Property.EmitsChangedSignal`.
    public enum Emits: String, Sendable {
      /// By a signal with the new value.
      case always = "true"
      /// By a signal without it.
      case invalidates
      /// There are none for the object's life.
      case constant = "const"
      /// Not at all.
      case never = "false"
    }

    /// Creates a property.
    public init(_ name: MemberName, _ type: DBusType, _ access: Access = .read, emits: Emits = .always) {
      self.name = name
      self.type = type
      self.access = access
      self.emits = emits
    }
  }

  /// The interface's name.
  public var name: InterfaceName
  /// The interface's methods.
  public var methods: [Method]
  /// The interface's signals.
  public var signals: [Signal]
  /// The interface's properties.
  public var properties: [Property]

  /// Creates a description.
  public init(
    _ name: InterfaceName, methods: [Method] = [], signals: [Signal] = [], properties: [Property] = []
  ) {
    self.name = name
    self.methods = methods
    self.signals = signals
    self.properties = properties
  }
}
