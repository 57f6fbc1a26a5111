//! `GET /data/weather`. Days up to a week ahead have another form than later days. A second array,
//! `weather`, beside `data` contains other days. The lists of days are essential: only an empty list says
//! that there is no forecast, and neither a missing one nor an empty text does.

use stopover_sdk::lenient::{Essential, LenientList, LenientNumber, NonEmptyText, Part};
use stopover_sdk::lenient_struct;

use crate::wire::Reference;

lenient_struct! {
    #[derive(Debug)]
    pub(crate) struct Weather {
        pub(crate) weather_data: Essential<LenientList<WeatherData>> = "weatherData",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct WeatherData {
        pub(crate) detailed_weather_data: Part<Detailed> = "detailedWeatherData",
        pub(crate) daily_weather: Part<Daily> = "dailyWeather",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Detailed {
        pub(crate) daily: Essential<LenientList<DetailedDay>> = "daily",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct DetailedDay {
        pub(crate) date: Essential<NonEmptyText> = "date",
        pub(crate) summary: Reference = "summary",
        pub(crate) temp: Part<Range> = "temp",
        pub(crate) humidity: LenientNumber = "humidity",
        pub(crate) wind_speed: LenientNumber = "wind_speed",
        pub(crate) weather: Part<LenientList<Condition>> = "weather",
        pub(crate) pop: LenientNumber = "pop",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Range {
        pub(crate) min: LenientNumber = "min",
        pub(crate) max: LenientNumber = "max",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Condition {
        pub(crate) description: Reference = "description",
        pub(crate) icon: Reference = "icon",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Daily {
        pub(crate) date: Essential<NonEmptyText> = "date",
        pub(crate) temperature: Part<Range> = "temperature",
        pub(crate) humidity: Part<Afternoon> = "humidity",
        pub(crate) wind: Part<Wind> = "wind",
        pub(crate) precipitation: Part<Precipitation> = "precipitation",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Afternoon {
        pub(crate) afternoon: LenientNumber = "afternoon",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Wind {
        pub(crate) max: Part<MaximumWind> = "max",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct MaximumWind {
        pub(crate) speed: LenientNumber = "speed",
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Precipitation {
        pub(crate) total: LenientNumber = "total",
    }
}
