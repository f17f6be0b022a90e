import DBusTypes

/// Values as JSON, in the form of `busctl --json=short`.
///
/// If that loses information or is not JSON, the form differs: doubles in their shortest exact form, infinities and NaN
/// as the strings "inf", "-inf" and "nan", dictionary keys of any basic type as strings.
enum JSONWriter {
  /// The value with its type: `{"type":"i","data":8}`.
  static func document(_ value: DBusValue) -> String {
    var text = ""
    write(document: value, to: &text)
    return text
  }

  /// The value alone: `8`.
  static func data(_ value: DBusValue) -> String {
    var text = ""
    write(value, to: &text)
    return text
  }

  private static func write(document value: DBusValue, to text: inout String) {
    text += "{\"type\":\"\(value.type)\",\"data\":"
    write(value, to: &text)
    text += "}"
  }

  private static func write(_ value: DBusValue, to text: inout String) {
    switch value {
    case .double(let number) where !number.isFinite: text += string(value.basicText ?? "")
    case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double: text += value.basicText ?? ""
    case .string, .objectPath, .signature: text += string(value.basicText ?? "")
    case .unixFD(let descriptor): text += String(descriptor.number)
    case .array(let array): write(list: array, to: &text)
    case .structure(let members): write(list: members, to: &text)
    case .dictionary(let dictionary):
      text += "{"
      for (index, entry) in dictionary.entries.enumerated() {
        if index > 0 { text += "," }
        text += string(entry.key.basicText ?? "")
        text += ":"
        write(entry.value, to: &text)
      }
      text += "}"
    case .variant(let content): write(document: content, to: &text)
    }
  }

  private static func write(list: some Sequence<DBusValue>, to text: inout String) {
    text += "["
    for (index, element) in list.enumerated() {
      if index > 0 { text += "," }
      write(element, to: &text)
    }
    text += "]"
  }

  /// `text` as a JSON string with its quotes.
  static func string(_ text: String) -> String { Output.shown(quoted(text)) }

  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    if isPlain { return "\"\(text)\"" }
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{8}": result += "\\b"
      case "\u{c}": result += "\\f"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20: result += Output.numbered(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// An object of members that already are JSON, in the order given.
  static func object(_ members: [(name: String, json: String)]) -> String {
    "{" + members.map { "\(string($0.name)):\($0.json)" }.joined(separator: ",") + "}"
  }
}
