import DBusTypes
import FocusContract

/// The operand `KEY[:SIGNATURE]=VALUE`.
struct KeyedValue {
  let key: String
  /// The type, if the operand names one.
  let type: DBusType?
  let text: String

  /// Reads `operand`.
  /// - Throws: `CommandError` if it does not have that form.
  init(_ operand: String) throws(CommandError) {
    guard let equals = operand.firstIndex(of: "=") else {
      throw .usage(
        "'\(operand.excerpt)' is not KEY[:SIGNATURE]=VALUE, such as demo.Form.Number=1 or demo.Form.Size:d=1")
    }
    let name = operand[..<equals]
    text = String(operand[operand.index(after: equals)...])
    if let colon = name.firstIndex(of: ":") {
      do {
        type = try DBusType(String(name[name.index(after: colon)...]))
      } catch {
        throw .usage(error.description)
      }
      key = try KeyArgument.whole(String(name[..<colon]))
    } else {
      type = nil
      key = try KeyArgument.whole(String(name))
    }
  }

  /// The value: of the operand's own type, else of `known`, else of the one that all programs give the key, else of the type
  /// inferred from the text.
  /// - Throws: `CommandError` if the text is not a value of the type.
  func value(known: DBusType? = nil) throws(CommandError) -> DBusValue {
    do {
      guard let type = type ?? known ?? Vocabulary.type(of: key) else { return try InferredType.value(of: text) }
      return try ValueText.read(text, as: type)
    } catch {
      throw .usage("\(key): \(error)")
    }
  }
}
