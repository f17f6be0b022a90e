public import DBusTypes
public import FocusContract

/// A field as it outlives the daemon.
public struct SavedField: Hashable, Sendable {
  /// A stored binding.
  public struct SavedBinding: Hashable, Sendable {
    /// The value.
    public var value: MarshalledValue
    /// The number of the binding's last change.
    public var revision: UInt64
    /// Whether only the owner may write it.
    public var isReadOnly: Bool

    /// Creates a binding.
    public init(value: MarshalledValue, revision: UInt64, isReadOnly: Bool) {
      self.value = value
      self.revision = revision
      self.isReadOnly = isReadOnly
    }

    init(_ binding: FieldBinding) {
      self.init(value: binding.value, revision: binding.revision, isReadOnly: binding.isReadOnly)
    }
  }

  /// The owner's object behind the field.
  public struct SavedObject: Hashable, Sendable {
    /// Which object it is, and what of it is exposed.
    public var choice: ObjectChoice
    /// The connection that has the object, or nil if that is the owner's.
    public var service: BusName?
    /// The commands that are disabled.
    public var disabled: Set<Key>

    /// Creates a description of an object.
    public init(_ choice: ObjectChoice, service: BusName? = nil, disabled: Set<Key>) {
      self.choice = choice
      self.service = service
      self.disabled = disabled
    }

    init?(of field: Field) {
      guard let object = field.object else {
        guard let awaited = field.awaited else { return nil }
        self = awaited
        return
      }
      self.init(
        object.choice, service: field.service, disabled: Set(object.commands.filter { !$0.value.isEnabled }.keys))
    }
  }

  /// The field's name.
  public var id: FieldID
  /// The field's name for people.
  public var label: String
  /// Where the field's keys resolve.
  public var scope: Scope
  /// Whether the field outlives its owner.
  public var lingers: Bool
  /// Whether its values are shown to its owner alone.
  public var isSensitive: Bool
  /// The registrant, or nil.
  public var owner: BusName?
  /// The containing field, or nil for a scene.
  public var parent: FieldID?
  /// Later registrations have higher numbers.
  public var registration: UInt64
  /// The process that the field belongs to, as the registrant said, or nil.
  public var process: UInt32?
  /// The owner's object behind the field, or nil.
  public var object: SavedObject?
  /// The stored bindings.
  public var bindings: [Key: SavedBinding]
  /// What the field is as a window, or nil.
  public var window: Window?
  /// When the field was focused last; 0: that is not remembered.
  public var lastFocused: UInt64 = 0
  /// Where the field stands among session-scoped ones, or nil.
  public var activity: Activity?

  /// Creates a field from what was saved of it.
  public init(
    id: FieldID, label: String, scope: Scope, lingers: Bool, isSensitive: Bool, owner: BusName?, parent: FieldID?,
    registration: UInt64, process: UInt32? = nil, object: SavedObject?, bindings: [Key: SavedBinding] = [:]
  ) {
    self.id = id
    self.label = label
    self.scope = scope
    self.lingers = lingers
    self.isSensitive = isSensitive
    self.owner = owner
    self.parent = parent
    self.registration = registration
    self.process = process
    self.object = object
    self.bindings = bindings
  }

  init(_ field: Field) {
    self.init(
      id: field.id, label: field.label, scope: field.scope, lingers: field.lingers, isSensitive: field.isSensitive,
      owner: field.owner, parent: field.savedParent, registration: field.registration,
      process: field.claimedProcess, object: SavedObject(of: field))
    (window, lastFocused, activity) = (field.window, field.lastFocused, field.activity)
    for (key, binding) in field.bindings where !binding.isBound { bindings[key] = SavedBinding(binding) }
  }
}

extension Field {
  /// The parent as it is saved: in which window a scene is, follows from what the windows have adopted.
  var savedParent: FieldID? { isAdopted ? nil : parent }
}

/// What outlives the daemon beside the fields.
public struct SavedState: Hashable, Sendable {
  /// The field that holds focus, or nil.
  public var focusedField: FieldID?
  /// The fields that held focus before, newest first.
  public var history: [FieldID] = []
  /// The window in front, or nil.
  public var front: FieldID?
  /// A number that no binding's revision has passed.
  public var revision: UInt64 = 0

  /// Creates the state of a model without fields.
  public init() {}
}

extension FocusModel {
  /// The fields that may have changed since the last save.
  public var unsavedFields: [UnsavedField] {
    let changed = changed
    var all = changed.fields.map { UnsavedField(id: $0, saved: $1, present: fields[$0]) }
    for (place, binding) in changed.bindings {
      all.append(UnsavedField(written: place, saved: binding, present: table.binding(at: place)))
    }
    return all
  }

  /// When other fields were focused of which that has changed since the last save.
  public var unsavedMemories: [(id: FieldID, lastFocused: UInt64)] {
    changed.moments.keys.compactMap { id in fields[id].map { (id, $0.lastFocused) } }
  }

  /// Every field, as if none had been saved.
  public var allFieldsUnsaved: [UnsavedField] {
    fields.map { UnsavedField(id: $0, saved: nil, present: $1) }
  }

  /// Whether the turn has changed anything that is saved.
  public var hasTurnChanges: Bool {
    !turnStart.before.isEmpty || hasMovedFocus
  }

  /// Whether anything may have changed since the last save.
  public var hasUnsavedChanges: Bool {
    !unsaved.isEmpty || hasTurnChanges
  }

  private var hasMovedFocus: Bool {
    focus.field != turnStart.focus.field || focus.history != turnStart.focus.history
      || focus.front != turnStart.focus.front
  }

  /// What there is, as changes of what a model without fields shows.
  public var everything: [Change] {
    var changes = fields.values.sorted { $0.registration < $1.registration }.map { Change.fieldAdded($0.id) }
    if focusedField != nil || !history.isEmpty {
      changes.append(
        .focusChanged(focusedField: focusedField != nil, focusPath: !focusPath.isEmpty, history: !history.isEmpty))
    }
    let shown = published.members.values.joined().map { ShownDifference(key: $0, before: .none, after: $1) }
    Change.tell(of: .focused, shown, &changes) { _, _ in (before: false, after: true) }
    if !table.session.isEmpty { changes.append(.sessionFieldsChanged) }
    return changes
  }

  /// The fields whose owners' objects were saved and are not bound again yet.
  public var fieldsAwaitingObjects: [Field] { fields.values.filter(\.isAwaitingObject) }
}
