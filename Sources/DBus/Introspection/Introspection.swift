public import DBusTypes

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
    var result = ""
    // By scalars: a mark that combines with a '<' makes it another character, and leaves it what it is to XML.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
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
