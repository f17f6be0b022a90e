public import DBusTypes
public import FocusContract

/// The rules of focus: which fields there are, which of them holds focus, and what each key resolves to.
///
/// Every operation either throws and has changed nothing, or returns what it changed in what everyone is shown, in order.
/// Moves of focus are told with the operation that follows them, or when `settle` is called: a blur with the focus that
/// follows it is one change.
///
/// It is an object because a value would be copied, all its parts retained, for each question to it.
public final class FocusModel {
  /// Every field by its name.
  public internal(set) var fields: [FieldID: Field] = [:]
  /// The field that holds focus, or nil.
  public internal(set) var focusedField: FieldID?
  /// The focused field, then its ancestors up to the scene; empty where nothing is focused.
  public internal(set) var focusPath: [FieldID] = []
  /// The fields that held focus before, newest first.
  public internal(set) var history: [FieldID] = []
  /// The number of the last change of any binding.
  public internal(set) var revision: UInt64 = 0

  var types = KeyTypes()
  var scenes = SceneIndex<Key>()
  var sceneCommands = SceneIndex<Key>()
  var sceneInterfaces = SceneIndex<InterfaceName>()
  /// The ids that registrations under way are to have.
  var reserved: Set<FieldID> = []
  var allowances = Allowances()
  var fieldsByOwner: [BusName: Set<FieldID>] = [:]
  var lastRegistration: UInt64 = 0
  var told = Told()
  /// What bound fields showed before what has not been told yet.
  var untold: [FieldID: Shown] = [:]
  /// What was there when the turn began.
  var turn = Turn()
  /// The fields that have changed since the last save, as they were then; nil: not there.
  var unsaved: [FieldID: Field?] = [:]

  /// What everyone has been told of focus so far.
  struct Told: Sendable {
    var focusedField: FieldID?
    var focusPath: [FieldID] = []
    var history: [FieldID] = []
    var shown = Shown()
  }

  /// Creates a model without fields.
  public init() {}

  /// The field `id`.
  /// - Throws: `FocusError.noSuchField`.
  public func field(_ id: FieldID) throws(FocusError) -> Field {
    guard let field = fields[id] else { throw .noSuchField(id.text) }
    return field
  }

  /// Checks that `client` may do with the field `id` what only its owner may.
  /// - Throws: `FocusError.accessDenied`, or `noSuchField`.
  public func field(_ id: FieldID, ownedBy client: BusName, to action: String) throws(FocusError) -> Field {
    let field = try field(id)
    guard field.isOwned(by: client) else {
      throw .accessDenied("only the owner of the field '\(id)' may \(action) it")
    }
    return field
  }

  /// The fields that `owner` has registered.
  public func fields(of owner: BusName) -> Set<FieldID> { fieldsByOwner[owner] ?? [] }

  /// `id`, then its ancestors up to the scene.
  public func path(from id: FieldID?) -> [FieldID] {
    var path: [FieldID] = []
    var next = id
    while let id = next, let field = fields[id] {
      path.append(id)
      next = field.parent
    }
    return path
  }

  /// The scene that contains the field `id`.
  func scene(of id: FieldID) -> FieldID { path(from: id).last ?? id }

  func nextRevision() -> UInt64 {
    revision += 1
    return revision
  }
}
