internal import DBus
internal import DBusTypes
internal import FocusModel
internal import Glibc

extension Journal {
  /// What `open` has found.
  struct Opened {
    /// Nil where there can be none now.
    var journal: Journal?
    /// The fields that were saved.
    var saved: [SavedField] = []
    /// The model that they make.
    var model = FocusModel()
    /// What is not as it should be, a line each.
    var problems: [String] = []
  }

  /// Opens the journal in `file` and reads it.
  ///
  /// A file that is damaged, or of a later version, is set aside and never deleted; a new one takes its place. One that
  /// another process has just now is waited for at most `patience` times a twentieth of a second.
  static func open(_ file: StateFile?, patience: Int = 0) -> Opened {
    guard let file else {
      return Opened(problems: ["nothing can be saved: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set"])
    }
    var left = patience
    var problems: [String] = []
    while true {
      do {
        try file.prepare()
        let journal = try Journal(file)
        let state = try journal.load()
        return Opened(journal: journal, saved: state.fields, model: try FocusModel(state), problems: problems)
      } catch let error as DatabaseError where error.isBusy && left > 0 {
        left -= 1
        usleep(50_000)
      } catch {
        guard problems.isEmpty, let reason = reasonToSetAside(error) else {
          return Opened(problems: problems + ["nothing can be saved in \(file.path): \(sentence(error))"])
        }
        guard let aside = file.setAside(reason.word) else {
          return Opened(problems: ["nothing can be saved: \(file.path) \(reason.sentence), and cannot be set aside"])
        }
        problems.append("\(file.path) \(reason.sentence): it is kept as \(aside), and focusd begins without fields")
      }
    }
  }

  private static func sentence(_ error: any Error) -> String {
    guard (error as? DatabaseError)?.isBusy == true else { return "\(error)" }
    return "another focusd uses it; give this one another XDG_STATE_HOME"
  }

  private static func reasonToSetAside(_ error: any Error) -> (word: String, sentence: String)? {
    switch error {
    case let error as SchemaTooNew: ("version-\(error.version)", "was written by a later focusd")
    case let error as DatabaseError: error.isDamage ? ("damaged", "is damaged") : nil
    case is StateFileRefused, is StateFileGone: nil
    default: ("damaged", "holds what focusd does not understand")
    }
  }
}
