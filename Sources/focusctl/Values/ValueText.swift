import DBusTypes

/// Values as operands and as output.
enum ValueText {
  /// Reads an operand as a value of `type`: basic types as plain text, a variant with an inferred type, others as JSON.
  /// - Throws: `SyntaxError` if it is not such a value.
  static func read(_ text: String, as type: DBusType) throws(SyntaxError) -> DBusValue {
    if type == .variant {
      // Quoted text is JSON, so that any string can be given: "8" in quotes is not a number.
      if text.hasPrefix("\""), let quoted = try? JSONReader.read(text, as: .string) { return .variant(quoted) }
      return .variant(try InferredType.value(of: text))
    }
    guard type.isBasic else { return try JSONReader.read(text, as: type) }
    do {
      return try DBusValue(text: text, of: type)
    } catch {
      throw SyntaxError(
        expected: type == .unixFD ? error.expected : "\(error.expected) (type '\(type)')", text: text,
        rule: error.rule + Example.clause(type))
    }
  }

  /// The value as `get` prints it: basic types as plain text, others as JSON.
  static func text(_ value: DBusValue) -> String { value.basicText.map(Output.shown) ?? JSONWriter.data(value) }

  /// The value on one line.
  static func line(_ value: DBusValue) -> String { value.basicText.map(Output.escaped) ?? JSONWriter.data(value) }
}
