internal import DBus
internal import DBusTypes
internal import FocusModel

extension Journal {
  /// What `open` has found.
  typealias Opened = (journal: Journal?, saved: [SavedField], model: FocusModel)

  /// Opens the journal in the user's state directory and reads it.
  ///
  /// A file that is damaged, or of a later version, is set aside and never deleted; a new one takes its place. Each thing
  /// that is not as it should be is said in one line.
  /// - Returns: the journal, nil where there can be none; the fields that were saved; and the model that they make.
  static func open(_ log: Log) -> Opened {
    guard let file = StateFile() else {
      log.error("nothing can be saved: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set")
      return (nil, [], FocusModel())
    }
    file.makeDirectories()
    do {
      return try load(file)
    } catch {
      guard let reason = reasonToSetAside(error) else {
        log.error("nothing can be saved in \(file.path): \(sentence(error))")
        return (nil, [], FocusModel())
      }
      guard let aside = file.setAside(reason.word) else {
        log.error("nothing can be saved: \(file.path) \(reason.sentence), and cannot be set aside")
        return (nil, [], FocusModel())
      }
      log.error("\(file.path) \(reason.sentence): it is kept as \(aside), and focusd begins without fields")
    }
    do {
      return try load(file)
    } catch {
      log.error("nothing can be saved in \(file.path): \(error)")
      return (nil, [], FocusModel())
    }
  }

  private static func load(_ file: StateFile) throws -> Opened {
    let journal = try Journal(path: file.path)
    let state = try journal.load()
    return (journal, state.fields, try FocusModel(state))
  }

  private static func sentence(_ error: any Error) -> String {
    guard (error as? DatabaseError)?.isBusy == true else { return "\(error)" }
    return "another focusd uses it; give this one another XDG_STATE_HOME"
  }

  private static func reasonToSetAside(_ error: any Error) -> (word: String, sentence: String)? {
    switch error {
    case let error as SchemaTooNew: ("version-\(error.version)", "was written by a later focusd")
    case let error as DatabaseError: error.isDamage ? ("damaged", "is damaged") : nil
    default: ("damaged", "holds what focusd does not understand")
    }
  }
}
