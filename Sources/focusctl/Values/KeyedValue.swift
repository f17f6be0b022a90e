import DBusTypes
import FocusContract

/// The operand `KEY[:SIGNATURE]=VALUE`.
struct KeyedValue {
  private(set) var key: String
  /// The type, if the operand names one.
  let type: DBusType?
  let text: String

  /// Reads `operand`, in which the end of a key may stand for it.
  /// - Throws: `CommandError` if it does not have that form.
  init(_ operand: String) throws(CommandError) {
    // By bytes, here and below: with a combining mark behind it, a sign is another character.
    guard let equals = operand.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      throw .usage(
        "'\(operand.excerpt)' is not KEY[:SIGNATURE]=VALUE, such as demo.Form.Number=1 or demo.Form.Size:d=1")
    }
    let name = operand[..<equals]
    text = String(operand[operand.utf8.index(after: equals)...])
    let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) ?? name.endIndex
    let key = try KeyArgument(String(name[..<colon]))
    guard key.pointer.isEmpty else { throw key.notWhole }
    self.key = key.name
    do {
      type = colon == name.endIndex ? nil : try DBusType(String(name[name.utf8.index(after: colon)...]))
    } catch {
      throw .usage(error.description)
    }
  }

  /// Whether the key is whole, and not the end of one.
  var isWhole: Bool { (try? KeyArgument.whole(key)) != nil }

  /// The same with the whole key: its own, or that of `keys` which it ends.
  /// - Throws: `CommandError` if it ends none of them, or several.
  func completed(among keys: some Sequence<String>) throws(CommandError) -> KeyedValue {
    var completed = self
    completed.key = try KeyArgument.whole(key, among: keys)
    return completed
  }

  /// The value: of the operand's own type, else of `known`, else of the one that all programs give the key, else of the type
  /// inferred from the text.
  /// - Throws: `CommandError` if the text is not a value of the type.
  func value(known: DBusType? = nil) throws(CommandError) -> DBusValue {
    do {
      let shared = (try? Key(key)).flatMap(Vocabulary.type)
      guard let type = type ?? known ?? shared else { return try InferredType.value(of: text) }
      return try ValueText.read(text, as: type)
    } catch {
      throw .usage("\(key): \(error)")
    }
  }
}
