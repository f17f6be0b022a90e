import DBus
import DBusTypes
import FocusContract
import Glibc

/// The field that `hold` is to have.
struct HoldPlan {
  /// The field's id; empty if the daemon chooses one.
  let id: String
  let values: [Key: DBusValue]
  let commands: [Key: [DBusType]]
  let readOnly: Set<Key>
  let options: Registration.Named
  let takesFocus: Bool

  /// Reads the arguments.
  /// - Throws: `CommandError` if they are not valid.
  init(_ operands: [String], _ options: Options) throws(CommandError) {
    let hasID = operands.first.map { !$0.utf8.contains(UInt8(ascii: "=")) } ?? false
    id = hasID ? operands[0] : ""
    if !id.isEmpty { _ = try FieldID.path(id) }
    var values: [Key: DBusValue] = [:]
    for each in try Registration.keyedValues(operands.dropFirst(hasID ? 1 : 0)) {
      let (key, value) = (try Registration.key(each.key), try each.value())
      try HoldPlan.check { () throws(VocabularyError) in try Vocabulary.check(value.type, of: key) }
      values[key] = value
    }
    let commands = try Registration.commands(options)
    for (key, signature) in commands {
      try HoldPlan.check { () throws(VocabularyError) in try Vocabulary.check(signature, of: key) }
    }
    guard !values.isEmpty || !commands.isEmpty else { throw .usage("'hold' needs a KEY=VALUE or a '--command'") }
    if let both = commands.keys.first(where: { values[$0] != nil }) {
      throw .usage("'\(both)' is both a value and a command")
    }
    var readOnly: Set<Key> = []
    for text in options.readOnly {
      let key = try Registration.key(text, among: values.keys)
      guard values[key] != nil else { throw .usage("'\(text.excerpt)' of '--read-only' is not among the field's keys") }
      readOnly.insert(key)
    }
    (self.values, self.commands, self.readOnly) = (values, commands.mapValues(\.types), readOnly)
    self.options =
      try Registration.options(options, of: values.map { ($0.key.description, $0.value) }) + HoldPlan.process(options)
    takesFocus = options.focus
  }

  /// Checks what the daemon checks of a field that it is given, and not of an object, of which it leaves out what does not fit.
  private static func check(_ check: () throws(VocabularyError) -> Void) throws(CommandError) {
    do {
      try check()
    } catch {
      switch error {
      case .isCommand(let key): throw .refused("\(key) is a command: '--command \(key)' has the field take it")
      case .isValue(let key): throw .refused("\(key) is a value: '\(key)=VALUE' has the field hold it")
      case .typeMismatch, .signatureMismatch: throw .refused(error.description)
      }
    }
  }

  /// The process that the field belongs to: the one that the options name, else the script that has the field held.
  private static func process(_ options: Options) throws(CommandError) -> Registration.Named {
    if let text = options.process {
      guard let process: UInt32 = NumberText.integer(text), process > 0 else {
        throw .usage("'\(text.excerpt)' is not a process id for '--process', such as 4711")
      }
      return [("process", .uint32(process))]
    }
    // Of another machine's processes nothing is known here, and the first one is no script.
    let parent = getppid()
    return options.host == nil && parent > 1 ? [("process", .uint32(UInt32(parent)))] : []
  }
}
