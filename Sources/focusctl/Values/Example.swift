import DBusTypes

/// Example values of a type, for error messages.
enum Example {
  /// The end of a sentence, with an example; empty if a value of `type` has no text form.
  static func clause(_ type: DBusType) -> String {
    let text = text(of: type)
    return type.description.contains("h") ? "" : ", such as \(text)"
  }

  /// An example of `type` as the operand of a command.
  static func text(of type: DBusType) -> String {
    switch type {
    case .string: "text"
    case .objectPath: "/org/example"
    case .signature: "a{sv}"
    default: json(of: type)
    }
  }

  private static func json(of type: DBusType) -> String {
    switch type {
    case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: "8"
    case .boolean: "true"
    case .double: "0.5"
    case .string, .objectPath, .signature: "\"\(text(of: type))\""
    case .unixFD: "0"
    case .variant: "{\"type\":\"i\",\"data\":8}"
    case .array(let element): "[\(json(of: element))]"
    case .structure(let members): "[\(members.map(json).joined(separator: ","))]"
    case .dictionary(let key, let value):
      "{\"\(key == .string ? "name" : json(of: key).filter { $0 != "\"" })\":\(json(of: value))}"
    }
  }
}
