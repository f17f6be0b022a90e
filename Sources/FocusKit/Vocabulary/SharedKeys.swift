internal import DBusTypes

/// A key that programs share: one name, meaning and type, whoever publishes it.
public struct SharedKey<Value>: Sendable {
  /// The key's name on the bus, `INTERFACE.Member`.
  public let name: String
  /// The type with which fields publish a number; nil for the number's own.
  let type: DBusType?

  init(_ name: String, as type: DBusType? = nil) {
    self.name = name
    self.type = type
  }
}

/// The values of the keys of `Group`, as members with the keys' names: `\.text.content`.
@dynamicMemberLookup
public struct SharedKeys<Group> {
  var values: FocusedValues
  let group: Group

  /// The value of a key, or nil.
  public subscript<Value>(dynamicMember key: KeyPath<Group, SharedKey<Value>>) -> Value? {
    get { self[group[keyPath: key]] }
    set { self[group[keyPath: key]] = newValue }
  }

  subscript<Value>(key: SharedKey<Value>) -> Value? {
    get { values[key.name, as: key.type] }
    set { values[key.name, as: key.type] = newValue }
  }
}

/// What a command's closure is: it may wait, and fails with what the command's owner throws.
public typealias FocusedCommand = @Sendable () async throws -> Void

// A program publishes those that it can honour.
extension FocusedValues {
  /// What the focused element is: `org.focusd.Element`.
  public var element: SharedKeys<ElementKeys> {
    get { SharedKeys(values: self, group: ElementKeys()) }
    set { self = newValue.values }
  }

  /// The focused text: `org.focusd.Text`.
  public var text: SharedKeys<TextKeys> {
    get { SharedKeys(values: self, group: TextKeys()) }
    set { self = newValue.values }
  }

  /// The focused slider, spin button or dial: `org.focusd.Range`.
  public var range: SharedKeys<RangeKeys> {
    get { SharedKeys(values: self, group: RangeKeys()) }
    set { self = newValue.values }
  }

  /// The focused check box, switch or toggle button: `org.focusd.Toggle`.
  public var toggle: SharedKeys<ToggleKeys> {
    get { SharedKeys(values: self, group: ToggleKeys()) }
    set { self = newValue.values }
  }

  /// The actions of the focused element: `org.focusd.Action`.
  public var action: ActionKeys {
    get { ActionKeys(values: self) }
    set { self = newValue.values }
  }

  /// What a menu *Edit* has: `org.focusd.Edit`.
  public var edit: SharedKeys<EditKeys> {
    get { SharedKeys(values: self, group: EditKeys()) }
    set { self = newValue.values }
  }

  /// The open document: `org.focusd.Document`.
  public var document: SharedKeys<DocumentKeys> {
    get { SharedKeys(values: self, group: DocumentKeys()) }
    set { self = newValue.values }
  }

  /// What a menu *View* has: `org.focusd.View`.
  public var view: SharedKeys<ViewKeys> {
    get { SharedKeys(values: self, group: ViewKeys()) }
    set { self = newValue.values }
  }

  /// The tabs of the program in front: `org.focusd.Tab`.
  public var tab: SharedKeys<TabKeys> {
    get { SharedKeys(values: self, group: TabKeys()) }
    set { self = newValue.values }
  }

  /// Where a browser or a file manager goes: `org.focusd.Navigation`.
  public var navigation: SharedKeys<NavigationKeys> {
    get { SharedKeys(values: self, group: NavigationKeys()) }
    set { self = newValue.values }
  }

  /// The program in front: `org.focusd.Application`.
  public var application: SharedKeys<ApplicationKeys> {
    get { SharedKeys(values: self, group: ApplicationKeys()) }
    set { self = newValue.values }
  }

  /// The menus of the window in front: `org.focusd.Menu`.
  public var menu: SharedKeys<MenuKeys> {
    get { SharedKeys(values: self, group: MenuKeys()) }
    set { self = newValue.values }
  }

  /// The focused shell: `org.focusd.Shell`.
  public var shell: SharedKeys<ShellKeys> {
    get { SharedKeys(values: self, group: ShellKeys()) }
    set { self = newValue.values }
  }

  /// The window in front: `org.focusd.Window`.
  public var window: SharedKeys<WindowKeys> {
    get { SharedKeys(values: self, group: WindowKeys()) }
    set { self = newValue.values }
  }

  /// The media player: `org.mpris.MediaPlayer2.Player`.
  public var mediaPlayer: SharedKeys<MediaPlayerKeys> {
    get { SharedKeys(values: self, group: MediaPlayerKeys()) }
    set { self = newValue.values }
  }
}
