public import DBusTypes

/// The keys of a media player, as MPRIS defines them: ``FocusedValues/mediaPlayer``.
public struct MediaPlayerKeys: KeyGroup {
  static let interface = "org.mpris.MediaPlayer2.Player"
  var values: FocusedValues

  /// Whether the player plays, for others to read: `PlaybackStatus`, type `s`.
  public var playbackStatus: MediaPlaybackStatus? {
    get { self["PlaybackStatus"] }
    set { self["PlaybackStatus"] = newValue }
  }

  /// What is being played, for others to read: `Metadata`, type `a{sv}`.
  public var metadata: MediaMetadata? {
    get { self["Metadata"] }
    set { self["Metadata"] = newValue }
  }

  /// How much of the track has been played, in microseconds, for others to read: `Position`, type `x`.
  public var position: Int? {
    get { self["Position"] }
    set { self["Position"] = newValue }
  }

  /// The volume, from 0 to 1; a player may allow more: `Volume`, type `d`.
  public var volume: Binding<Double>? {
    get { self["Volume"] }
    set { self["Volume"] = newValue }
  }

  /// The playback rate, 1 for normal: `Rate`, type `d`.
  public var rate: Binding<Double>? {
    get { self["Rate"] }
    set { self["Rate"] = newValue }
  }

  /// Whether the order is random: `Shuffle`, type `b`.
  public var shuffle: Binding<Bool>? {
    get { self["Shuffle"] }
    set { self["Shuffle"] = newValue }
  }

  /// What is repeated: `LoopStatus`, type `s`.
  public var loopStatus: Binding<MediaLoopStatus>? {
    get { self["LoopStatus"] }
    set { self["LoopStatus"] = newValue }
  }

  /// Whether ``next`` has a track: `CanGoNext`, type `b`.
  public var canGoNext: Bool? {
    get { self["CanGoNext"] }
    set { self["CanGoNext"] = newValue }
  }

  /// Whether ``previous`` has a track: `CanGoPrevious`, type `b`.
  public var canGoPrevious: Bool? {
    get { self["CanGoPrevious"] }
    set { self["CanGoPrevious"] = newValue }
  }

  /// Starts, or goes on: the command `Play`.
  public var play: FocusedCommand? {
    get { self["Play"] }
    set { self["Play"] = newValue }
  }

  /// Pauses: the command `Pause`.
  public var pause: FocusedCommand? {
    get { self["Pause"] }
    set { self["Pause"] = newValue }
  }

  /// Pauses, or goes on: the command `PlayPause`.
  public var playPause: FocusedCommand? {
    get { self["PlayPause"] }
    set { self["PlayPause"] = newValue }
  }

  /// Stops: the command `Stop`.
  public var stop: FocusedCommand? {
    get { self["Stop"] }
    set { self["Stop"] = newValue }
  }

  /// Goes to the next track: the command `Next`.
  public var next: FocusedCommand? {
    get { self["Next"] }
    set { self["Next"] = newValue }
  }

  /// Goes to the previous track: the command `Previous`.
  public var previous: FocusedCommand? {
    get { self["Previous"] }
    set { self["Previous"] = newValue }
  }
}

/// Whether a media player plays.
public enum MediaPlaybackStatus: String, CaseIterable, Sendable, DBusRepresentable {
  /// It plays.
  case playing = "Playing"
  /// It can go on where it is.
  case paused = "Paused"
  /// It plays nothing.
  case stopped = "Stopped"
}

/// What a media player repeats.
public enum MediaLoopStatus: String, CaseIterable, Sendable, DBusRepresentable {
  /// Nothing.
  case none = "None"
  /// The track.
  case track = "Track"
  /// The list.
  case playlist = "Playlist"
}

/// What a media player plays; entries that are missing, or have an unusual type, are nil.
public struct MediaMetadata: Hashable, Sendable, DBusRepresentable {
  /// The track's title: `xesam:title`.
  public var title: String?
  /// The track's artists: `xesam:artist`.
  public var artists: [String]?
  /// The album's title: `xesam:album`.
  public var album: String?
  /// The track's length in microseconds: `mpris:length`.
  public var length: Int?
  /// The address of a picture: `mpris:artUrl`.
  public var artURL: String?
  /// The address of the track: `xesam:url`.
  public var url: String?

  /// Creates the metadata of nothing.
  public init() {}

  /// The type `a{sv}`.
  public static var dbusType: DBusType { .dictionary(key: .string, value: .variant) }

  /// Creates the metadata from MPRIS's dictionary.
  /// - Throws: `DBusConversionError` if it is not a dictionary.
  public init(dbusValue: DBusValue) throws {
    guard case .dictionary(let dictionary) = dbusValue.unwrapped else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    func value<Value: DBusRepresentable>(_ name: String) -> Value? {
      dictionary[.string(name)].flatMap { try? Value(dbusValue: $0) }
    }
    title = value("xesam:title")
    artists = value("xesam:artist")
    album = value("xesam:album")
    length = value("mpris:length")
    artURL = value("mpris:artUrl")
    url = value("xesam:url")
  }

  /// MPRIS's dictionary, with the entries that are not nil.
  /// - Throws: `DBusConversionError` if a text contains NUL.
  public func dbusValue() throws -> DBusValue {
    let entries: [(String, (any DBusRepresentable)?)] = [
      ("xesam:title", title), ("xesam:artist", artists), ("xesam:album", album), ("mpris:length", length),
      ("mpris:artUrl", artURL), ("xesam:url", url),
    ]
    return .properties(
      try entries.compactMap { name, value in try value.map { (name: name, value: try $0.dbusValue()) } })
  }
}
