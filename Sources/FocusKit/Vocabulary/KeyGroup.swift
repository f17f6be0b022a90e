internal import DBusTypes

/// Keys of one interface, as members of a property of ``FocusedValues``.
protocol KeyGroup {
  /// What the keys' names begin with.
  static var interface: String { get }
  var values: FocusedValues { get set }
}

extension KeyGroup {
  /// The value of the key `member`, or nil; fields publish a number as `type`.
  subscript<Value>(member: String, as type: DBusType? = nil) -> Value? {
    get { values["\(Self.interface).\(member)", as: type] }
    set { values["\(Self.interface).\(member)", as: type] = newValue }
  }
}

/// What a command's closure is: it may wait, and fails with what the command's owner throws.
public typealias FocusedCommand = @Sendable () async throws -> Void

// The keys that all programs share: one name, meaning and type, regardless of who publishes them. A program publishes those
// that it can honour.
extension FocusedValues {
  /// What the focused element is: `org.focusd.Element`.
  public var element: ElementKeys {
    get { ElementKeys(values: self) }
    set { self = newValue.values }
  }

  /// The focused text: `org.focusd.Text`.
  public var text: TextKeys {
    get { TextKeys(values: self) }
    set { self = newValue.values }
  }

  /// The focused slider, spin button or dial: `org.focusd.Range`.
  public var range: RangeKeys {
    get { RangeKeys(values: self) }
    set { self = newValue.values }
  }

  /// The focused check box, switch or toggle button: `org.focusd.Toggle`.
  public var toggle: ToggleKeys {
    get { ToggleKeys(values: self) }
    set { self = newValue.values }
  }

  /// The actions of the focused element: `org.focusd.Action`.
  public var action: ActionKeys {
    get { ActionKeys(values: self) }
    set { self = newValue.values }
  }

  /// What a menu *Edit* has: `org.focusd.Edit`.
  public var edit: EditKeys {
    get { EditKeys(values: self) }
    set { self = newValue.values }
  }

  /// The open document: `org.focusd.Document`.
  public var document: DocumentKeys {
    get { DocumentKeys(values: self) }
    set { self = newValue.values }
  }

  /// The focused shell: `org.focusd.Shell`.
  public var shell: ShellKeys {
    get { ShellKeys(values: self) }
    set { self = newValue.values }
  }

  /// The window in front: `org.focusd.Window`.
  public var window: WindowKeys {
    get { WindowKeys(values: self) }
    set { self = newValue.values }
  }

  /// The media player: `org.mpris.MediaPlayer2.Player`.
  public var mediaPlayer: MediaPlayerKeys {
    get { MediaPlayerKeys(values: self) }
    set { self = newValue.values }
  }
}
