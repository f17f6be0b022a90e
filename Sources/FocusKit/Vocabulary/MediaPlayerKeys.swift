public import DBusTypes

/// The keys of a media player, as MPRIS defines them: ``FocusedValues/mediaPlayer``.
public struct MediaPlayerKeys: Sendable {
  /// Whether the player plays, for others to read: `PlaybackStatus`, type `s`.
  public let playbackStatus = SharedKey<MediaPlaybackStatus>("org.mpris.MediaPlayer2.Player.PlaybackStatus")
  /// What is being played, for others to read: `Metadata`, type `a{sv}`.
  public let metadata = SharedKey<MediaMetadata>("org.mpris.MediaPlayer2.Player.Metadata")
  /// How much of the track has been played, in microseconds, for others to read: `Position`, type `x`.
  public let position = SharedKey<Int>("org.mpris.MediaPlayer2.Player.Position")
  /// The volume, from 0 to 1; a player may allow more: `Volume`, type `d`.
  public let volume = SharedKey<Binding<Double>>("org.mpris.MediaPlayer2.Player.Volume")
  /// The playback rate, 1 for normal: `Rate`, type `d`.
  public let rate = SharedKey<Binding<Double>>("org.mpris.MediaPlayer2.Player.Rate")
  /// Whether the order is random: `Shuffle`, type `b`.
  public let shuffle = SharedKey<Binding<Bool>>("org.mpris.MediaPlayer2.Player.Shuffle")
  /// What is repeated: `LoopStatus`, type `s`.
  public let loopStatus = SharedKey<Binding<MediaLoopStatus>>("org.mpris.MediaPlayer2.Player.LoopStatus")
  /// Whether ``next`` has a track: `CanGoNext`, type `b`.
  public let canGoNext = SharedKey<Bool>("org.mpris.MediaPlayer2.Player.CanGoNext")
  /// Whether ``previous`` has a track: `CanGoPrevious`, type `b`.
  public let canGoPrevious = SharedKey<Bool>("org.mpris.MediaPlayer2.Player.CanGoPrevious")
  /// Starts, or goes on: the command `Play`.
  public let play = SharedKey<FocusedCommand>("org.mpris.MediaPlayer2.Player.Play")
  /// Pauses: the command `Pause`.
  public let pause = SharedKey<FocusedCommand>("org.mpris.MediaPlayer2.Player.Pause")
  /// Pauses, or goes on: the command `PlayPause`.
  public let playPause = SharedKey<FocusedCommand>("org.mpris.MediaPlayer2.Player.PlayPause")
  /// Stops: the command `Stop`.
  public let stop = SharedKey<FocusedCommand>("org.mpris.MediaPlayer2.Player.Stop")
  /// Goes to the next track: the command `Next`.
  public let next = SharedKey<FocusedCommand>("org.mpris.MediaPlayer2.Player.Next")
  /// Goes to the previous track: the command `Previous`.
  public let previous = SharedKey<FocusedCommand>("org.mpris.MediaPlayer2.Player.Previous")
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
  /// Nothing. For an optional status, `.none` alone is Swift's nil, so write `MediaLoopStatus.none`.
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
  public static var dbusType: DBusType { .properties }

  /// Creates the metadata from MPRIS's dictionary.
  /// - Throws: `DBusConversionError` if it is not a dictionary.
  public init(dbusValue: DBusValue) throws {
    guard case .dictionary(let dictionary) = dbusValue.lookedThrough else {
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
