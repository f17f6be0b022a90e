public import DBusTypes

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

/// Writes introspection documents.
///
/// All but arguments' names is a checked name or type, neither of which holds a character that XML would need escaped.
public enum IntrospectionDocument {
  /// The document of an object with `interfaces`, below which the nodes `children` lie.
  public static func xml(interfaces: [InterfaceDescription], children: [String]) -> String {
    var text = """
      <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
      <node>

      """
    for interface in interfaces { write(interface, &text) }
    for child in children { text += "  <node name=\"\(child)\"/>\n" }
    return text + "</node>\n"
  }

  private static func write(_ interface: InterfaceDescription, _ text: inout String) {
    text += "  <interface name=\"\(interface.name)\">\n"
    for method in interface.methods {
      text += "    <method name=\"\(method.name)\">\n"
      for argument in method.input { write(argument, " direction=\"in\"", &text) }
      for argument in method.output { write(argument, " direction=\"out\"", &text) }
      text += "    </method>\n"
    }
    for signal in interface.signals {
      text += "    <signal name=\"\(signal.name)\">\n"
      for argument in signal.arguments { write(argument, "", &text) }
      text += "    </signal>\n"
    }
    for property in interface.properties { write(property, &text) }
    text += "  </interface>\n"
  }

  private static func write(
    _ argument: InterfaceDescription.Argument, _ direction: String, _ text: inout String
  ) {
    let name = argument.name.isEmpty ? "" : " name=\"\(escaped(argument.name))\""
    text += "      <arg\(name) type=\"\(argument.type)\"\(direction)/>\n"
  }

  /// `text` as the value of an attribute; what no XML document can hold is left out.
  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    // By scalars: a mark that combines with a '<' makes it another character, and leaves it what it is to XML.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": result.append(contentsOf: "&lt;".unicodeScalars)
      case ">": result.append(contentsOf: "&gt;".unicodeScalars)
      case "&": result.append(contentsOf: "&amp;".unicodeScalars)
      case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
      case "\t", "\n", "\r": result.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static func write(_ property: InterfaceDescription.Property, _ text: inout String) {
    text += "    <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(property.access.rawValue)\""
    guard property.emits != .always else {
      text += "/>\n"
      return
    }
    text += ">\n      <annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\""
    text += " value=\"\(property.emits.rawValue)\"/>\n"
    text += "    </property>\n"
  }
}
